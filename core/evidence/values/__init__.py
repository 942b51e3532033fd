"""Values within a text: JSON, whole, cut or with slips, and what Python prints of its objects."""
