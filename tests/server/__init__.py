"""Tests that ask the real components: kube-apiserver, kubeconform, Helm."""
