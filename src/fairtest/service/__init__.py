"""The monitoring service: FairTest beside a running application. Needs ``fairtest[service]``."""
