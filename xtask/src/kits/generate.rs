//! The generated parts of the kits: types and the table of resources, from the program's OpenAPI and AsyncAPI documents.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    Kit, Language, Setup,
    folder::{entries, mirror},
    prepare::{empty_folder, finish, typescript},
};
use crate::clients::aldaba;

const REMEDY: &str = "run `cargo xtask kits generate`";

/// The folder with the generated files of a kit, from the root; None if it has none.
fn generated(language: Language) -> Option<&'static str> {
    match language {
        Language::TypeScript => Some("kits/typescript/src/generated"),
        Language::Python => Some("kits/python/src/aldaba_client/_generated"),
        Language::Go | Language::Java | Language::Php => None,
    }
}

/// Writes the generated files of all kits.
pub(super) fn write(setup: &Setup) -> Result<(), String> {
    let documents = Documents::print(setup)?;
    for language in [Language::TypeScript, Language::Python] {
        let made = documents.generate(language, setup)?;
        if let Some(folder) = generated(language) {
            mirror(&made, &setup.root.join(folder), &["__pycache__"])?;
            println!("{folder}: written");
        }
    }
    Ok(())
}

/// Fails if the generated files are not those that the documents give.
pub(super) fn check(kits: &[&Kit], setup: &Setup) -> Result<(), String> {
    let chosen: Vec<_> =
        kits.iter().filter_map(|kit| Some((kit.language, generated(kit.language)?))).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let documents = Documents::print(setup)?;
    for (language, folder) in chosen {
        if let Some(difference) = difference(&documents.generate(language, setup)?, &setup.root.join(folder))?
        {
            return Err(format!("{folder}/{difference} is not what the documents say: {REMEDY}"));
        }
    }
    Ok(())
}

/// The name of the first file that is different or missing on one side.
fn difference(made: &Path, committed: &Path) -> Result<Option<String>, String> {
    let files = |folder: &Path| -> Result<Vec<(String, Vec<u8>)>, String> {
        let named = entries(folder)?.into_iter().filter(|path| path.is_file()).map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap_or_default())
        });
        Ok(named.collect())
    };
    let (made, committed) = (files(made)?, files(committed)?);
    let differs = |one: &[(String, Vec<u8>)], other: &[(String, Vec<u8>)]| {
        one.iter().find(|file| !other.contains(file)).map(|(name, _)| name.clone())
    };
    Ok(differs(&made, &committed).or_else(|| differs(&committed, &made)))
}

/// The documents of the program, as files.
struct Documents {
    openapi: PathBuf,
    asyncapi: PathBuf,
    names: PathBuf,
}

impl Documents {
    fn print(setup: &Setup) -> Result<Self, String> {
        let folder = setup.cache.join("documents");
        empty_folder(&folder)?;
        let print = |name: &str| -> Result<PathBuf, String> {
            let file = folder.join(format!("{name}.json"));
            finish(&format!("aldaba {name}"), aldaba(&setup.program).arg(name).arg("--output").arg(&file))?;
            Ok(file)
        };
        Ok(Self {
            openapi: print("openapi")?,
            asyncapi: print("asyncapi")?,
            names: setup.root.join("kits/names.json"),
        })
    }

    /// Runs a kit's generator and returns the folder with its output.
    fn generate(&self, language: Language, setup: &Setup) -> Result<PathBuf, String> {
        let output = setup.cache.join("generated").join(format!("{language:?}"));
        empty_folder(&output)?;
        let mut generator = if language == Language::TypeScript {
            let mut node = Command::new("node");
            node.arg("scripts/generate.mjs").current_dir(typescript(setup)?);
            node
        } else {
            let mut python = Command::new("python3");
            python.arg("-B").arg(setup.root.join("kits/python/tools/generate.py"));
            python
        };
        generator.args([&self.openapi, &self.asyncapi, &self.names, &output]);
        finish(&format!("the generator of the {language:?} kit"), &mut generator)?;
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    #[test]
    fn difference_is_the_first_file_that_is_not_the_same() {
        let folder = TempDir::new("generated").unwrap();
        let (made, committed) = (folder.path().join("made"), folder.path().join("committed"));
        let write = |folder: &Path, name: &str, text: &str| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), text).unwrap();
        };
        write(&made, "a", "1");
        write(&committed, "a", "1");
        assert_eq!(difference(&made, &committed), Ok(None));
        write(&committed, "b", "old");
        assert_eq!(difference(&made, &committed), Ok(Some("b".into())), "no longer generated");
        write(&made, "b", "new");
        assert_eq!(difference(&made, &committed), Ok(Some("b".into())));
    }
}
