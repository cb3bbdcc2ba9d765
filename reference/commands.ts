import type { AnyCommand } from '../src/cli/commands/command.ts'
import { program } from '../src/cli/commands/program.ts'

/** The text of docs/commands.md: the output of `--help` for each command. */
export function commandsReference(): string {
  const commands = program().commands.flatMap((command) => [command, ...command.commands])
  return `# Commands

<!-- Made by npm run reference; do not edit. -->

${commands.map((command) => `## ${nameOf(command)}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`).join('\n')}`
}

const nameOf = (command: AnyCommand): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`

function helpOf(command: AnyCommand): string {
  let text = ''
  command.configureOutput({
    writeOut: (piece) => {
      text += piece
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trimEnd()
}
