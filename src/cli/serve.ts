import { Command, InvalidArgumentError, Option } from 'commander'
import { loadContract } from '../contract/load.ts'
import { parseDurations, parseLengths } from '../service/distribution.ts'
import { faults } from '../service/faults/list.ts'
import type { Outage, ServiceOptions } from '../service/options.ts'
import { keepPausesShort } from '../service/pauses.ts'
import { profileQuestions } from '../service/profile.ts'
import { readProfile } from '../service/profile-reading.ts'
import { type RunningService, startService } from '../service/start.ts'
import { exit, UsageError } from './exit.ts'

interface Flags {
  readonly host: string
  readonly port: number
  readonly profile?: string
  readonly set: readonly string[]
  readonly fault: readonly string[]
  readonly seed?: number
  readonly timeScale: number
  readonly data: string
  readonly contract?: string
  readonly durability: 'process' | 'power'
  readonly ttft?: string
  readonly itl?: string
  readonly tokens?: string
  readonly upstream?: string
  readonly upstreamModel: readonly string[]
  readonly listFaults?: boolean
  readonly listProfile?: boolean
  readonly outage?: Outage
  readonly operator?: boolean
  readonly json?: boolean
}

/** `assay serve`: the reference service, until it is told to stop. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the reference service on this machine.')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 lets the system pick', port, 8787)
    .option('--data <file>', 'SQLite file of the ledger; :memory: keeps nothing', text, ':memory:')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .addOption(
      new Option(
        '--durability <what>',
        'what a charge survives: the end of the process, or of power',
      )
        .choices(['process', 'power'])
        .default('process'),
    )
    .option('--profile <file>', 'answers to what the specification leaves open (YAML)')
    .option('--set <question=answer>', 'one such answer; repeat for more', gather, [])
    .option('--list-profile', 'print every question with its standard answer, and exit')
    .option('--fault <name[=share|#nth]>', 'break a promise; repeat for more', gather, [])
    .option('--list-faults', 'print every fault with the rule that it breaks, and exit')
    .option('--seed <number>', 'same seed, same answers, same keys', whole)
    .option('--time-scale <factor>', 'seconds of service time per second', timeScale, 1)
    .option('--ttft <time>', 'time to the first token, such as lognormal(300ms,0.4)')
    .option('--itl <time>', 'time between tokens, such as 20ms')
    .option('--tokens <number>', 'length of answers, such as uniform(20,200)')
    .option('--outage <status[=share]>', 'fail with 500 or 503, uncharged, now and then', outage)
    .option('--operator', 'offer /operator/ to this machine: moves the clock and balances')
    .option(
      '--upstream <url>',
      'relay generation to an OpenAI-compatible server (key: ASSAY_UPSTREAM_KEY)',
    )
    .option('--upstream-model <name>', 'its model, or ours=theirs; repeat for more', gather, [])
    .option('--json', 'print one JSON object for programs')
    .action(async (flags: Flags) => {
      if (flags.listFaults) return printFaults(flags.json === true)
      if (flags.listProfile) return printProfile(flags.json === true)
      if (flags.upstream === undefined && flags.upstreamModel.length > 0) {
        throw new UsageError('--upstream-model: expected --upstream, the server that has the model')
      }
      keepPausesShort()
      process.on('uncaughtException', endWith)
      const service = await startService(optionsOf(flags))
      if (!['127.0.0.1', '::1', 'localhost'].includes(flags.host)) {
        process.stderr.write('Other machines can reach this service, and nothing is encrypted.\n')
      }
      // Listened for before anybody is told that the service is there, and may end it.
      const end = stopped()
      print(service, flags)
      await end
      await service.close()
    })
}

function optionsOf(flags: Flags): ServiceOptions {
  return {
    host: flags.host,
    port: flags.port,
    contract: loadContract(flags.contract),
    profile: readProfile(flags.profile, flags.set),
    faults: flags.fault,
    timeScale: flags.timeScale,
    dataPath: flags.data,
    durability: flags.durability,
    operatorEndpoint: flags.operator === true,
    ...(flags.outage === undefined ? {} : { outage: flags.outage }),
    ...(flags.seed === undefined ? {} : { seed: flags.seed }),
    ...(flags.upstream === undefined
      ? {}
      : {
          upstream: {
            url: flags.upstream,
            apiKey: process.env.ASSAY_UPSTREAM_KEY || null,
            models: flags.upstreamModel,
            tell: (words) => process.stderr.write(`upstream: ${words} (told once)\n`),
          },
        }),
    shape: {
      ...(flags.ttft === undefined ? {} : { timeToFirstUs: parseDurations(flags.ttft, '--ttft') }),
      ...(flags.itl === undefined ? {} : { betweenTokensUs: parseDurations(flags.itl, '--itl') }),
      ...(flags.tokens === undefined
        ? {}
        : { lengthTokens: parseLengths(flags.tokens, '--tokens') }),
    },
  }
}

function print({ baseUrl, keys }: RunningService, flags: Flags): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ baseUrl, keys })}\n`)
    return
  }
  const rows = keys.map(
    ({ band, balance, apiKey }) =>
      `  ${(band ?? '-').padEnd(12)}${String(balance).padEnd(12)}${apiKey}`,
  )
  process.stdout.write(
    [
      `Listening on ${baseUrl}`,
      `Dashboard    ${baseUrl}/dashboard  (register there)`,
      `Usage        ${baseUrl}/my-credits  (or sign in with a key below)`,
      ...upstreamLines(flags),
      ...(flags.fault.length > 0 ? [`Broken on purpose: ${flags.fault.join(', ')}`] : []),
      '',
      '  band        credits     key',
      ...rows,
      '',
      `  export ASSAY_API_KEY=${keys[0]?.apiKey ?? ''}`,
      '',
      'Ctrl-C stops it.',
      '',
    ].join('\n'),
  )
}

function upstreamLines({ upstream }: Flags): readonly string[] {
  if (upstream === undefined) return []
  const key = process.env.ASSAY_UPSTREAM_KEY
    ? ''
    : '  (without a key: ASSAY_UPSTREAM_KEY is not set)'
  return [`Answers from ${upstream}${key}`]
}

function printFaults(json: boolean): void {
  const list = faults.map(({ name, rule, does, probability }) => ({
    name,
    rule,
    does,
    probability,
  }))
  if (json) process.stdout.write(`${JSON.stringify(list)}\n`)
  else {
    for (const { name, rule, does, probability } of list) {
      const share = probability === 1 ? '' : ` (${probability})`
      process.stdout.write(`${name.padEnd(36)}${rule.padEnd(10)}${does}${share}\n`)
    }
  }
}

function printProfile(json: boolean): void {
  const list = profileQuestions()
  if (json) process.stdout.write(`${JSON.stringify(list)}\n`)
  else {
    for (const { name, says, answers, standard } of list) {
      process.stdout.write(`${name} = ${standard}\n    ${says}\n    answers: ${answers}\n`)
    }
  }
}

/** A ledger that cannot be written is the machine's fault, and told in a sentence; all else is ours. */
function endWith(error: Error): never {
  process.stderr.write(
    error.name === 'UsageError'
      ? `${error.message}\n`
      : `A fault of Assay's own, please report it:\n${error.stack}\n`,
  )
  process.exit(exit.internal)
}

/** Resolves on the first SIGINT or SIGTERM. */
function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

function gather(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}

function port(text: string): number {
  const value = whole(text)
  if (value > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

function whole(text: string): number {
  const value = Number(text)
  // A seed has 32 bits: one beyond would give the same service as another.
  if (/^\d+$/.test(text) && value < 2 ** 32) return value
  throw new InvalidArgumentError(`expected a whole number below ${2 ** 32}`)
}

function outage(text: string): Outage {
  const match = /^(500|503)(?:=(0?\.\d+|1|0))?$/.exec(text)
  if (match === null) {
    throw new InvalidArgumentError('expected 500 or 503 and a share, such as 503=0.05')
  }
  return { status: match[1] === '500' ? 500 : 503, probability: Number(match[2] ?? 0.01) }
}

/** At a million, a lifetime passes in an hour; beyond, dates would end before the tests. */
const mostTimeScale = 1e6

function timeScale(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= mostTimeScale)) {
    throw new InvalidArgumentError(`expected a number above 0 and at most ${mostTimeScale}`)
  }
  return value
}

function text(value: string): string {
  if (value === '') throw new InvalidArgumentError('expected a name; got an empty one')
  return value
}
