"""The next version of Clerk, as far as the database is concerned: one more column and one more index."""

from clerk_project import settings as of_now

globals().update({name: value for name, value in vars(of_now).items() if name.isupper()})
INSTALLED_APPS = [*of_now.INSTALLED_APPS, "tests.machines.next"]
