"""The judgements: pytest modules, one a chapter; pure functions of evidence, each bound to one requirement."""
