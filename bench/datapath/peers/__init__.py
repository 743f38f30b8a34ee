"""The peers that OpenMRC is measured against, each in a file of its own, and the two namespaces in which all of them run."""
