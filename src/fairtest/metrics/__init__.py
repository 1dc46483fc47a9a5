"""How strong is it: the association metrics, each an effect read off a summary."""
