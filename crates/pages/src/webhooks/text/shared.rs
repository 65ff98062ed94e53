//! Words that all these pages use.

use crate::texts;

texts! {
    pub SharedText {
        live: "En directo", "Live";
        filter: "Filtrar", "Filter";
        clear_filter: "Quitar el filtro", "Clear the filter";
        time: "Hora", "Time";
    }
}
