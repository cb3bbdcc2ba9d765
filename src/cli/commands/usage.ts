import { creditsFields } from '../../probe/usage-body.ts'
import {
  accountOption,
  byOption,
  choice,
  command,
  contractOption,
  engineOption,
  inputOption,
  keysOption,
  liveOption,
  type OptionsOf,
  outputOption,
  quartersOption,
  storeOption,
} from './command.ts'

const usageOptions = () =>
  command('usage', {
    does: 'Print what was used, when credits run out, and what to buy.',
    examples: [
      'usage --timezone Europe/Berlin',
      'usage --account acct-204 --by key --json',
      'usage --quarters quarters.parquet',
    ],
  })
    .argument('[run...]', 'ids of runs; default: all runs and imported logs')
    .addOption(storeOption())
    .option(
      '--from <date>',
      'first day or time; default: the first day of usage, at most 31 days back',
    )
    .option('--to <date>', 'end, exclusive; default: the last day of usage')
    .option('--timezone <zone>', 'IANA zone of days and hours', 'UTC')
    .addOption(byOption('what to split usage by'))
    .option('--source <name...>', 'only these imported logs', [])
    .addOption(accountOption())
    .addOption(keysOption())
    .addOption(engineOption())
    .addOption(quartersOption())
    .addOption(
      inputOption(
        '--grants <file>',
        'YAML list of the credits that you hold: name, credits, expires',
      ),
    )
    .addOption(
      inputOption(
        '--settings <file>',
        'settings of usage serve: what the account of --account got, and its zone',
      ),
    )
    .addOption(inputOption('--key-names <file>', 'YAML with names of keys by fingerprint'))
    .option('--credit-price <usd>', 'price of a credit in US dollars, to show costs in money')
    .option('--seed <number>', 'seed of the forecast', '1')
    .addOption(contractOption())
    .option('--json', 'print everything as JSON')

export type Options = OptionsOf<typeof usageOptions>

export const usageCommand = () =>
  usageOptions()
    .action(async (runs, options, usage) =>
      (await import('../usage/usage.ts')).usageAction(
        runs,
        options,
        usage.getOptionValueSource('timezone') !== 'default',
      ),
    )
    .addCommand(watchCommand())
    .addCommand(initCommand())
    .addCommand(closeCommand())
    .addCommand(serveCommand())
    .addCommand(alertsCommand())
    .addCommand(tokenCommand())
    .addCommand(checkCommand())
    .addCommand(reconcileCommand())

const reconcileOptions = () =>
  command('reconcile', {
    does: 'Lay a bill beside the own log and the contract, with the causes of each difference.',
    examples: [
      'usage reconcile --bill bill.csv --log spend.jsonl --contract gateway.yaml',
      'usage reconcile --bill bill.csv --log spend.jsonl --contract gateway.yaml --format html --out bill.html',
      'usage reconcile --bill bill.csv --bill-map map.yaml --log spend.jsonl --contract gateway.yaml --json',
      'usage reconcile --db usage.duckdb --bill focus --log litellm --contract gateway.yaml',
    ],
  })
    .addOption(
      inputOption(
        '--bill <file>',
        'the bill: a format that import knows, or one with --bill-map; or a source of the store',
      ).makeOptionMandatory(),
    )
    .addOption(
      inputOption(
        '--log <file>',
        'the log of the requests, with their tokens; or a source of the store',
      ).makeOptionMandatory(),
    )
    .addOption(storeOption())
    .addOption(inputOption('--bill-map <file>', 'YAML: which column of the bill is which field'))
    .addOption(contractOption('the contract with the prices (YAML)'))
    .addOption(
      choice('--format <format>', 'output format; html is a page', [
        'text',
        'md',
        'json',
        'html',
      ]).default('text'),
    )
    .addOption(outputOption('--out <file>', 'output file; default: standard output'))
    .option('--json', 'the same as --format json')

export type ReconcileOptions = OptionsOf<typeof reconcileOptions>

const reconcileCommand = () =>
  reconcileOptions().action(async (_, reconcile) =>
    (await import('../usage/usage-reconcile.ts')).reconcileAction(reconcile.optsWithGlobals()),
  )

const watchOptions = () =>
  command('watch', {
    does: 'Poll GET /user/credits and store the answers.',
    examples: [
      'usage watch --base-url http://127.0.0.1:8787 --every 30',
      'usage watch --base-url http://127.0.0.1:8787 --field consumed=usage.total --count 10',
    ],
    sends: true,
  })
    .requiredOption('--base-url <url>', 'the service')
    .addOption(storeOption())
    .addOption(engineOption())
    .addOption(contractOption())
    .option('--every <seconds>', 'time between polls', '60')
    .option('--count <polls>', 'stop after so many polls; default: at Ctrl-C')
    .option(
      '--field <name=path...>',
      `path of a field in the answer: ${creditsFields.join(', ')}`,
      [],
    )
    .addOption(liveOption())
    .option('--json', 'print a line of JSON for each poll')

export type WatchOptions = OptionsOf<typeof watchOptions>

const watchCommand = () =>
  watchOptions().action(async (_, watch) =>
    // Commander gives options that `usage` also has to `usage`, so they are read with optsWithGlobals.
    (await import('../usage/usage.ts')).watchAction(watch.optsWithGlobals()),
  )

const initOptions = () =>
  command('init', {
    does: 'Create the usage tables that are missing in ClickHouse.',
    examples: [
      'usage init --engine clickhouse://127.0.0.1:8123/usage',
      'usage init --engine clickhouse://127.0.0.1:8123/usage --cluster main --print',
    ],
  })
    .addOption(engineOption('the database'))
    .option('--cluster <name>', 'distribute them over the shards of this cluster')
    .option('--print', 'print the statements without running them')

export type InitOptions = OptionsOf<typeof initOptions>

const initCommand = () =>
  initOptions().action(async (_, init) =>
    (await import('../usage/usage-clickhouse.ts')).initAction(init.optsWithGlobals()),
  )

const closeOptions = () =>
  command('close', {
    does: 'Sum finished UTC days into quarters of an hour in ClickHouse.',
    examples: [
      'usage close --engine clickhouse://127.0.0.1:8123/usage --to 2026-11-01',
      'usage close --engine clickhouse://127.0.0.1:8123/usage --from 2026-10-30 --to 2026-11-01',
    ],
  })
    .addOption(engineOption('the database'))
    .option('--from <date>', 'first day, to close days again; default: the first open day')
    .option('--to <date>', 'end, exclusive; no more events of earlier days are expected')

export type CloseOptions = OptionsOf<typeof closeOptions>

const closeCommand = () =>
  closeOptions().action(async (_, close) =>
    (await import('../usage/usage-clickhouse.ts')).closeAction(close.optsWithGlobals()),
  )

const settingsOption = () =>
  inputOption('--settings <file>', 'YAML with the product, words, tokens and accounts')

const serveOptions = () =>
  command('serve', {
    does: 'Serve the usage of accounts to their customers, read-only.',
    examples: [
      'usage serve --settings credits-page.yaml --listen 127.0.0.1:8790',
      'usage serve --engine clickhouses://assay@ch.internal:8443/usage --settings credits-page.yaml',
    ],
    notes: ['It needs hono, @hono/node-server and jose: npm install hono @hono/node-server jose.'],
  })
    .addOption(settingsOption())
    .addOption(storeOption())
    .addOption(engineOption())
    .addOption(contractOption())
    .option('--listen <address>', 'host and port; port 0 is a free one', '127.0.0.1:8790')
    .option('--every <seconds>', 'how often to look for new usage', '5')

export type ServeOptions = OptionsOf<typeof serveOptions>

const serveCommand = () =>
  serveOptions().action(async (_, serve) =>
    (await import('../usage/usage-serve.ts')).serveAction(serve.optsWithGlobals()),
  )

const alertsOptions = () =>
  command('alerts', {
    does: 'List the alerts of usage serve, or have one sent anew.',
    examples: [
      'usage alerts --settings credits-page.yaml',
      'usage alerts --settings credits-page.yaml --replay msg_4f1c0d9a8b7e6d5c4b3a291807f6e5d4',
    ],
  })
    .addOption(settingsOption())
    .option('--replay <id>', 'send this alert once more to all that it went to')

export type AlertsOptions = OptionsOf<typeof alertsOptions>

const alertsCommand = () =>
  alertsOptions().action(async (_, alerts) =>
    (await import('../usage/usage-alerts.ts')).alertsAction(alerts.optsWithGlobals()),
  )

const tokenOptions = () =>
  command('token', {
    does: 'Sign a token of one account, for a try: a backend signs its own.',
    examples: [
      'usage token --account acct-204 --for 1h --settings credits-page.yaml --private-key usage-private.pem',
      'usage token --account acct-204 --shows credits models --settings credits-page.yaml',
    ],
  })
    .addOption(settingsOption())
    .addOption(accountOption('the account'))
    .addOption(keysOption())
    .addOption(inputOption('--private-key <file>', 'PEM of the private key, for EdDSA'))
    .option('--for <time>', 'how long it lasts, at most 24h', '1h')
    .option('--shows <what...>', 'what it shows; default: all that the settings show')
    .option('--origin <origin>', 'the only origin of the settings that may embed the page')

export type TokenOptions = OptionsOf<typeof tokenOptions>

const tokenCommand = () =>
  tokenOptions().action(async (_, token) =>
    (await import('../usage/usage-serve.ts')).tokenAction(token.optsWithGlobals()),
  )

const checkOptions = () =>
  command('check', {
    does: 'Check a settings file of usage serve, and print every issue.',
    examples: ['usage check --settings credits-page.yaml', 'usage check --settings staging.yaml'],
  }).addOption(settingsOption())

export type CheckOptions = OptionsOf<typeof checkOptions>

const checkCommand = () =>
  checkOptions().action(async (_, check) =>
    (await import('../usage/usage-serve.ts')).checkAction(check.optsWithGlobals()),
  )
