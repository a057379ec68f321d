from dpsyn_core.commands.cli import main as main
