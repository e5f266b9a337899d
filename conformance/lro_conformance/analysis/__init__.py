"""What captured calls and files mean: pure functions that checks share."""
