"""The program that the command of docs/operate/kubernetes.md submits: the package's own example."""

from spark_collectives.examples.digits import main

main()
