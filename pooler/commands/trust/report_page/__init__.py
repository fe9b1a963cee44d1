"""What stands on the page of `report`: its sections, and what they are made of."""
