"""Programs that an installed package can run, with no file besides it.

``python -m spark_collectives.examples.digits`` learns to read digits. More programs are in the
repository's folder ``examples``.
"""
