"""Plans and plan files: pure comparison of desired objects with live objects, without any request."""
