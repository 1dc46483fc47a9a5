"""Telling people what the watch has found: events and deliveries in an outbox, signed webhooks and e-mail."""
