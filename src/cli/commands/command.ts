import type * as typed from '@commander-js/extra-typings'
import * as commander from 'commander'
import { isTagDimension } from '../../measure/usage/tags.ts'
import { type UsageDimension, usageDimensions } from '../../report/pages.ts'
import type { FileRole, NamedFile } from '../../store/files/files-apart.ts'
import { storeFile } from '../../store/session/store-file.ts'
import { suggestion } from '../../user/nearest.ts'

/** Commander, with types that know the arguments and options which a command declares. */
export const { Argument, Command, Option } = commander as unknown as typeof typed
const { Help, InvalidArgumentError } = commander

export type AnyCommand = typed.CommandUnknownOpts

/** The options that a command declares, as its action gets them. */
export type OptionsOf<Declare extends () => { opts(): unknown }> = ReturnType<
  ReturnType<Declare>['opts']
>

interface CommandHelp {
  /** One sentence. */
  readonly does: string
  /** Complete command lines, without the leading `assay`. */
  readonly examples: readonly [string, string, ...string[]]
  /** It sends requests to a service, which need a key. */
  readonly sends?: true
  /** Further notes for users, one sentence on each line. */
  readonly notes?: readonly string[]
}

/**
 * A command with its description and examples. The files of this folder only declare arguments and
 * options. Each loads its action when it runs, so that `--help` does not load a database.
 */
export function command(name: string, { does, examples, sends, notes = [] }: CommandHelp) {
  const lines = [
    '',
    'Examples:',
    ...examples.map((example) => `  assay ${example}`),
    '',
    sends
      ? 'The API key comes from ASSAY_API_KEY, never from an argument.'
      : 'It sends nothing to a service and needs no ASSAY_API_KEY.',
    ...notes,
  ]
  return new Command(name)
    .description(does)
    .addHelpText('after', lines.join('\n'))
    .configureHelp({ optionDescription })
    .exitOverride()
}

/** The description of an option, without the default if that is an empty list. */
function optionDescription(this: commander.Help, option: commander.Option): string {
  const isEmpty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0
  return isEmpty ? option.description : Help.prototype.optionDescription.call(this, option)
}

/** An option or an argument that names a file, so that no output is another file of the command. */
class FileOption<Flags extends string> extends Option<Flags> {
  readonly role: FileRole
  constructor(flags: Flags, does: string, role: FileRole) {
    super(flags, does)
    this.role = role
  }
}

class FileArgument<Name extends string> extends Argument<Name> {
  readonly role: FileRole
  constructor(name: Name, does: string, role: FileRole) {
    super(name, does)
    this.role = role
  }
}

export const inputOption = <Flags extends string>(flags: Flags, does: string) =>
  new FileOption(flags, does, 'input')
export const outputOption = <Flags extends string>(flags: Flags, does: string) =>
  new FileOption(flags, does, 'output')
export const olderOption = <Flags extends string>(flags: Flags, does: string) =>
  new FileOption(flags, does, 'older')
export const picturesOption = <Flags extends string>(flags: Flags, does: string) =>
  new FileOption(flags, does, 'pictures')
export const otherStoreOption = <Flags extends string>(flags: Flags, does: string) =>
  new FileOption(flags, does, 'store')
export const inputArgument = <Name extends string>(name: Name, does: string) =>
  new FileArgument(name, does, 'input')
export const outputArgument = <Name extends string>(name: Name, does: string) =>
  new FileArgument(name, does, 'output')
export const storesArgument = <Name extends string>(name: Name, does: string) =>
  new FileArgument(name, does, 'store')

/** The options that the user wrote, by their names in the object of options. */
export const givenTo = (command: AnyCommand): readonly string[] =>
  command.options
    .map((option) => option.attributeName())
    .filter((name) => command.getOptionValueSource(name) === 'cli')

/** The files that the user named to a command, or that are its defaults. */
export function namedFiles(command: AnyCommand): readonly NamedFile[] {
  // A command under another may have the same option as that.
  const options = new Map(
    [...(command.parent?.options ?? []), ...command.options]
      .filter((option) => option instanceof FileOption)
      .map((option) => [option.long, option] as const),
  )
  const values = command.optsWithGlobals()
  const given = [
    ...[...options.values()].map((option) => ({
      name: option.long ?? option.flags,
      role: option.role,
      value: values[option.attributeName()],
    })),
    ...command.registeredArguments.flatMap((argument, at) =>
      argument instanceof FileArgument
        ? [{ name: `<${argument.name()}>`, role: argument.role, value: command.processedArgs[at] }]
        : [],
    ),
  ]
  return given.flatMap(({ name, role, value }) =>
    [value].flat().flatMap((path) => (typeof path === 'string' ? [{ name, role, path }] : [])),
  )
}

export const storeOption = (does = 'the store') =>
  new FileOption('--db <file>', does, 'store').default('assay.duckdb').argParser(storeFile)

export const engineOption = (does = 'ClickHouse instead of the store') =>
  new Option('--engine <url>', `${does}: clickhouse://user:password@host:port/db`)

export const quartersOption = (of = '') =>
  inputOption(
    '--quarters <file>',
    `${of}Parquet with sums per quarter of an hour, instead of the store`,
  )

export const accountOption = (does = 'only the usage of this account') =>
  new Option('--account <name>', does)

export const keysOption = (does = 'only these keys, by name or fingerprint') =>
  new Option('--key <key...>', does).default([])

export const contractOption = (does = 'the promises of the service (YAML); default: svc') =>
  inputOption('--contract <file>', does)

export const uploadOption = () =>
  new Option(
    '--upload <s3-url>',
    'also upload the files to s3://bucket/prefix (needs @aws-sdk/client-s3 and @aws-sdk/lib-storage)',
  )

export const otlpOption = () =>
  new Option(
    '--otlp <url>',
    "also send the figures to an OpenTelemetry collector, as http://127.0.0.1:4318 (needs OpenTelemetry's exporters)",
  )

export const otlpSpansOption = () =>
  new Option('--otlp-spans', 'with --otlp, also a span for each attempt')

export const liveOption = () =>
  new Option('--live [port]', 'serve a live page and /metrics on 127.0.0.1; default: a free port')

export const joinOption = () =>
  new Option('--join <url>', 'the NATS server where shards meet, as nats://10.0.0.7:4222')

export const joinTimeoutOption = () =>
  new Option(
    '--join-timeout <time>',
    'how long to wait for the server and for other shards',
  ).default('5m')

/** An option whose value is one of a list. */
export const choice = <Flags extends string, const Choices extends readonly string[]>(
  flags: Flags,
  does: string,
  choices: Choices,
) => new Option(flags, does).choices(choices).argParser(oneOf(choices))

/** An argument that is one of a list. */
export const choiceArgument = <Name extends string, const Choices extends readonly string[]>(
  name: Name,
  does: string,
  choices: Choices,
) => new Argument(name, does).choices(choices).argParser(oneOf(choices))

const oneOf =
  <const Choices extends readonly string[]>(choices: Choices) =>
  (value: string): Choices[number] => {
    if (choices.includes(value)) return value
    throw new InvalidArgumentError(suggestion(value, choices))
  }

/** What usage is split by: a dimension that every log has, or a tag. */
export const byOption = (does: string) =>
  new Option('--by <what>', `${does} (choices: ${usageDimensions.join(', ')}, tag:NAME)`)
    .argParser(
      (value): UsageDimension => (isTagDimension(value) ? value : oneOf(usageDimensions)(value)),
    )
    .default('model' as UsageDimension)

/** Adds a value to an option that may be repeated. */
export const gather = (value: string, before: readonly string[]): readonly string[] => [
  ...before,
  value,
]
