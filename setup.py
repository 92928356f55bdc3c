"""What pyproject.toml cannot say: templates/ becomes a part of a package when it is installed."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["clerk_project*", "pipeline*", "records*", "sites*"]),
        "clerk_project.templates",
    ],
    package_dir={"clerk_project.templates": "templates"},
    package_data={
        "clerk_project.templates": ["**/*"],
        "pipeline": ["static/**/*"],
        "records": ["static/**/*"],
    },
)
