"""Whole stories, from data to conclusions."""
