"""What is to change and why: pure comparison of what shall be with what is; no request is made here."""
