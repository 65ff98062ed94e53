//! The pages of the developer portal and of the operator's console. Nothing lives here yet but the direction:
//! it stands above the four rooms in the middle, and only the program stands above it.
