"""Parts that scripts bring, beside those that the package has by name."""
