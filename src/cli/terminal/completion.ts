import type { Argument, Option } from 'commander'
import type { AnyCommand } from '../commands/command.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The words that may follow the commands so far. */
interface Completion {
  /** The commands so far, such as `usage watch`; empty at the start. */
  readonly path: string
  readonly commands: readonly AnyCommand[]
  readonly options: readonly Option[]
  /** Values of the first argument, if they are a list. */
  readonly values: readonly string[]
}

export async function completionAction(shell: Shell, program: AnyCommand): Promise<void> {
  // A comment, so that the text stays a script.
  process.stdout.write(
    `${scripts[shell](completionsOf(program, ''))}# Next: assay completion ${shell} ${kept[shell]}\n`,
  )
}

/** Where each shell reads the script. */
const kept: Readonly<Record<Shell, string>> = {
  bash: '>> ~/.bashrc',
  zsh: '>> ~/.zshrc',
  fish: '> ~/.config/fish/completions/assay.fish',
}

function completionsOf(command: AnyCommand, path: string): readonly Completion[] {
  const [first] = command.registeredArguments as readonly Argument[]
  const { commands, options } = command
  return [
    { path, commands, options, values: first?.argChoices ?? [] },
    ...commands.flatMap((each) => completionsOf(each, `${path} ${each.name()}`.trim())),
  ]
}

/** The shells complete file names if nothing else matches. */
const scripts: Readonly<Record<Shell, (all: readonly Completion[]) => string>> = {
  bash: (all) => `_assay() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $each" in
${all
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      "${path.includes(' ') ? path : ` ${path}`}") path="${path}" ;;\n`)
  .join('')}    esac
  done
  local words=""
  case "$path $before" in
${all.flatMap(({ path, options }) => options.flatMap((option) => (option.argChoices ? [`    "${path} ${option.long}") words="${option.argChoices.join(' ')}" ;;\n`] : []))).join('')}    *) case "$path" in
${all.map((each) => `      "${each.path}") words="${wordsOf(each).join(' ')}" ;;\n`).join('')}    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _assay assay
`,
  zsh: (all) => `autoload -U +X bashcompinit && bashcompinit\n${scripts.bash(all)}`,
  fish: (all) => all.flatMap(fishLines).join(''),
}

const wordsOf = ({ commands, options, values }: Completion): readonly string[] => [
  ...commands.map((each) => each.name()),
  ...values,
  ...options.map((option) => option.long!),
  '--help',
]

function fishLines({ path, commands, options, values }: Completion): readonly string[] {
  const when =
    path === ''
      ? '__fish_use_subcommand'
      : path
          .split(' ')
          .map((word) => `__fish_seen_subcommand_from ${word}`)
          .join('; and ')
  const line = (rest: string, about: string) =>
    `complete -c assay -n '${when}' ${rest} -d ${quoted(about)}\n`
  return [
    ...commands.map((each) => line(`-a ${each.name()}`, each.description())),
    ...values.map((value) => line(`-a ${value}`, 'value')),
    ...options.map(({ long, argChoices, description, required, optional }) =>
      line(
        `-l ${long!.slice(2)}${argChoices ? ` -xa '${argChoices.join(' ')}'` : required || optional ? ' -r' : ''}`,
        description,
      ),
    ),
  ]
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
