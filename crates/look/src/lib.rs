//! The one visual language: layout, styles, icons, and words in Spanish and English. Nothing lives here yet
//! but the direction: the rooms with pages use it, and it uses the domain alone.
