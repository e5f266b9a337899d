"""Reading an offloaded file through tools, for an assistant without a shell: families of tools, and rules for all."""
