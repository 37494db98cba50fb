"""The real components the tests ask: built once from pinned Go modules, kept outside the checkout."""
