import { Argument, Command, Help, InvalidArgumentError, Option } from 'commander'
import { storeFile } from '../../store/store-file.ts'
import { suggestion } from '../../user/nearest.ts'

interface CommandHelp {
  /** One sentence. */
  readonly does: string
  /** Complete command lines, without the leading `assay`. */
  readonly examples: readonly [string, string, ...string[]]
  /** Whether it sends requests to a service, which need a key. */
  readonly sends: boolean
  /** Further notes for users, one sentence on each line. */
  readonly notes?: readonly string[]
}

/**
 * A command with its description and examples. The files of this folder only declare arguments and
 * options. Each loads its action when it runs, so that `--help` does not load a database.
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

/** The description of an option, without the default if that is an empty list. */
function optionDescription(this: Help, option: Option): string {
  const isEmpty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0
  return isEmpty ? option.description : Help.prototype.optionDescription.call(this, option)
}

export const storeOption = (does = 'the store') =>
  new Option('--db <file>', does).default('assay.duckdb').argParser(storeFile)

export const engineOption = (does = 'ClickHouse instead of the store') =>
  new Option('--engine <url>', `${does}: clickhouse://user:password@host:port/db`)

export const contractOption = () =>
  new Option('--contract <file>', 'the promises of the service (YAML); default: the specification')

export const uploadOption = () =>
  new Option(
    '--upload <s3-url>',
    'also upload the files to s3://bucket/prefix (needs @aws-sdk/client-s3 and @aws-sdk/lib-storage)',
  )

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
export const choice = (flags: string, does: string, choices: readonly string[]) =>
  new Option(flags, does).choices(choices).argParser(oneOf(choices))

/** An argument that is one of a list. */
export const choiceArgument = (name: string, does: string, choices: readonly string[]) =>
  new Argument(name, does).choices(choices).argParser(oneOf(choices))

const oneOf = (choices: readonly string[]) => (value: string) => {
  if (choices.includes(value)) return value
  throw new InvalidArgumentError(suggestion(value, choices))
}

/** Adds a value to an option that may be repeated. */
export const gather = (value: string, before: readonly string[]): readonly string[] => [
  ...before,
  value,
]
