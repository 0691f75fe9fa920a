# Install rules; the package configuration.
