import { InvalidArgumentError } from 'commander'
import type { Outage } from '../../service/options.ts'
import {
  choice,
  command,
  contractOption,
  gather,
  inputOption,
  type OptionsOf,
  outputOption,
} from './command.ts'

const serveOptions = () =>
  command('serve', {
    does: 'Run the reference service on this machine.',
    examples: ['serve', 'serve --fault double-charge --set algorithm=gcra'],
    notes: [
      'It prints a key for each band; export one as ASSAY_API_KEY.',
      'With --upstream, it relays requests to that server.',
    ],
  })
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 lets the system pick', port, 8787)
    .addOption(
      outputOption('--data <file>', 'SQLite file of the ledger; :memory: keeps nothing')
        .default(':memory:')
        .argParser(text),
    )
    .addOption(contractOption())
    .addOption(
      choice(
        '--durability <what>',
        'a charge survives the end of the process, or also a power failure',
        ['process', 'power'],
      ).default('process'),
    )
    .addOption(
      inputOption(
        '--profile <file>',
        'answers to the questions that the specification leaves open (YAML)',
      ),
    )
    .option('--set <question=answer>', 'answer one question; may be repeated', gather, [])
    .option('--list-profile', 'print every question with its default answer, and exit')
    .option('--fault <name[=share|#nth]>', 'break a promise; may be repeated', gather, [])
    .option('--conduct <name>', 'a legal way to bill in money; may be repeated', gather, [])
    .addOption(
      outputOption(
        '--spend-log <file>',
        'add a line of JSON for each charge in money to this file',
      ),
    )
    .option('--list-faults', 'print every fault with the rule that must detect it, and exit')
    .option('--seed <number>', 'the same seed gives the same answers and keys', whole)
    .option('--time-scale <factor>', 'seconds of service time per second', timeScale, 1)
    .option('--ttft <time>', 'time to the first token, such as lognormal(300ms,0.4)')
    .option('--itl <time>', 'time between tokens, such as 20ms')
    .option('--tokens <number>', 'length of answers, such as uniform(20,200)')
    .option(
      '--outage <status[=share]>',
      'fail a share of generations with 500 or 503, uncharged',
      outage,
    )
    .option(
      '--operator',
      'serve /operator/ to this machine, to move the clock and set balances (key: ASSAY_OPERATOR_KEY, or a new one)',
    )
    .option(
      '--trust-proxy',
      'all clients use a proxy; identify them by the last address in X-Forwarded-For',
    )
    .option(
      '--frame-origin <origin>',
      'pages of this origin may frame /my-credits and GET /user/credits; may be repeated',
      gather,
      [],
    )
    .option(
      '--upstream <url>',
      'relay generation to an OpenAI-compatible server (key: ASSAY_UPSTREAM_KEY)',
    )
    .option(
      '--upstream-model <name>',
      'the model upstream, or ours=theirs; may be repeated',
      gather,
      [],
    )
    .option(
      '--upstream-header <header>',
      "a header for upstream requests, as 'x-route: a'; $NAME is a variable; may be repeated",
      gather,
      [],
    )
    .option('--json', 'print one JSON object for programs')

export type Options = OptionsOf<typeof serveOptions>

export const serveCommand = () =>
  serveOptions().action(async (flags) => {
    ;(await import('../../service/pauses.ts')).holdYoung()
    await (await import('../services/serve.ts')).serveAction(flags)
  })

function port(text: string): number {
  const value = whole(text)
  if (value > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

function whole(text: string): number {
  const value = Number(text)
  // A seed has 32 bits; a larger one would give the same service as a smaller one.
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

/** At a million, a lifetime passes in an hour; above, tests could pass the last date of JavaScript. */
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
