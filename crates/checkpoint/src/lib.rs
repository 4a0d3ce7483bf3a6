//! A model on disk: its shape, its parameters' names, its files.
