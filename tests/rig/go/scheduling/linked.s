// Empty: with an assembly file in the package, Go accepts the functions without a body in linked.go.
