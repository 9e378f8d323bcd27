"""Object stores, ``s3://`` and ``gs://``: reading goes through a copy on this machine, writing leaves the manifest for last."""
