"""What every compiled loop needs: the kernel decorator with its cache, and numbers that fit."""
