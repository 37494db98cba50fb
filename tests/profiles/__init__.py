"""Tests of the shipped profiles."""
