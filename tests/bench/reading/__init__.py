"""How the reader of answers is taught and measured, on groups of invented, closely related pages."""
