import Glibc

Output.fillStandardDescriptors()
Signals.shared.install()
exit(Program.run(CommandLine.arguments).status)
