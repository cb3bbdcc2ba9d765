import { Argument, Command, Help, InvalidArgumentError, Option } from 'commander'
import { storeFile } from '../../store/store-file.ts'
import { suggestion } from '../../user/nearest.ts'

interface CommandHelp {
  /** One sentence: what the command does. */
  readonly does: string
  /** Command lines that work as they stand, without the leading `assay`. */
  readonly examples: readonly [string, string, ...string[]]
  /** Whether it sends requests to a service, which take a key. */
  readonly sends: boolean
  /** What else a user must know, a sentence a line. */
  readonly notes?: readonly string[]
}

/**
 * A command with its description and examples. The files of this folder declare arguments and
 * options alone: each loads its work when it runs, so that `--help` does not wait for a database.
 */
export function command(name: string, { does, examples, sends, notes = [] }: CommandHelp): Command {
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

/** What an option does; an empty list is no default worth printing. */
function optionDescription(this: Help, option: Option): string {
  const isEmpty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0
  return isEmpty ? option.description : Help.prototype.optionDescription.call(this, option)
}

/** The store that a command reads or writes. */
export const storeOption = (does = 'the store') =>
  new Option('--db <file>', does).default('assay.duckdb').argParser(storeFile)

/** Where usage is, if not in a store. */
export const engineOption = (does = 'ClickHouse instead of the store') =>
  new Option('--engine <url>', `${does}: clickhouse://user:password@host:port/db`)

/** The promises that a service is held to. */
export const contractOption = () =>
  new Option('--contract <file>', 'the promises of the service (YAML); default: the specification')

/** A bucket that takes what a command wrote. */
export const uploadOption = () =>
  new Option(
    '--upload <s3-url>',
    'also upload the files to s3://bucket/prefix (needs @aws-sdk/client-s3)',
  )

/** A page that is open while the command works. */
export const liveOption = () =>
  new Option('--live [port]', 'serve a live page and /metrics on 127.0.0.1; default: a free port')

/** Where the shards of a run meet. */
export const joinOption = () =>
  new Option('--join <url>', 'the NATS server where shards meet, as nats://10.0.0.7:4222')

/** How long shards wait for each other. */
export const joinTimeoutOption = () =>
  new Option(
    '--join-timeout <time>',
    'how long to wait for the server and for other shards',
  ).default('5m')

/** An option that takes one of a list. */
export const choice = (flags: string, does: string, choices: readonly string[]) =>
  new Option(flags, does).choices(choices).argParser(oneOf(choices))

/** An argument that is one of a list. */
export const choiceArgument = (name: string, does: string, choices: readonly string[]) =>
  new Argument(name, does).choices(choices).argParser(oneOf(choices))

const oneOf = (choices: readonly string[]) => (value: string) => {
  if (choices.includes(value)) return value
  throw new InvalidArgumentError(suggestion(value, choices))
}

/** Adds one more value to an option that may be repeated. */
export const gather = (value: string, before: readonly string[]): readonly string[] => [
  ...before,
  value,
]
