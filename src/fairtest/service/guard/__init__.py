"""Keys, scopes and the secret of the service."""
