#!/usr/bin/env python
"""The command line of a checkout; an installed package has the same as `clerk`."""

from clerk_project.command_line import main

if __name__ == "__main__":
    main()
