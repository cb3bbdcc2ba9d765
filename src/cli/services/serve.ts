import type { FullContract } from '../../contract/contract.ts'
import { loadContract, loadFullContract } from '../../contract/load.ts'
import { isHeaderValue } from '../../contract/request.ts'
import { startService } from '../../public/service.ts'
import { parseDurations, parseLengths } from '../../service/distribution.ts'
import { faults } from '../../service/faults/list.ts'
import { makeSecret } from '../../service/keys.ts'
import { completed } from '../../service/money/complete.ts'
import { conducts } from '../../service/money/conducts.ts'
import { moneyFaults } from '../../service/money/faults/list.ts'
import type { ServiceOptions } from '../../service/options.ts'
import { keepPausesShort } from '../../service/pauses.ts'
import { profileQuestions } from '../../service/profile.ts'
import { readProfile } from '../../service/profile-reading.ts'
import type { RunningService } from '../../service/start.ts'
import { given } from '../../user/given.ts'
import { UserError, userError } from '../../user/user-error.ts'
import type { Options } from '../commands/serve.ts'
import { extraHeaders } from '../runs/extra-headers.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine } from '../terminal/next.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'

export async function serveAction(flags: Options): Promise<void> {
  if (flags.listFaults) return printFaults(flags.json === true)
  if (flags.listProfile) return printProfile(flags.json === true)
  if (flags.upstream === undefined && flags.upstreamModel.length > 0) {
    throw userError.usage('--upstream-model: expected --upstream, the server that has the model')
  }
  if (flags.upstream === undefined && flags.upstreamHeader.length > 0) {
    throw userError.usage('--upstream-header: expected --upstream, the server that it is sent to')
  }
  keepPausesShort()
  process.on('uncaughtException', endWith)
  const operatorKey = flags.operator ? operatorKeyOf(process.env) : null
  const service = await startService(optionsOf(flags, operatorKey))
  if (!['127.0.0.1', '::1', 'localhost'].includes(flags.host)) {
    process.stderr.write('Other machines can reach this service, and nothing is encrypted.\n')
  }
  // Listen for signals before printing the address, because its reader may stop the service at once.
  const end = stopped()
  print(service, flags, operatorKey)
  await end
  await service.close()
}

/** A contract with prices may leave other promises out; one of credits has all of them. */
function contractOf(path: string | undefined): FullContract {
  const contract = loadContract(path)
  return contract.prices === undefined ? loadFullContract(path) : completed(contract)
}

function originOf(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text
  throw userError.usage(
    `--frame-origin ${text}: expected an origin, such as https://app.example.com, without a path.`,
  )
}

function optionsOf(flags: Options, operatorKey: string | null): ServiceOptions {
  return {
    host: flags.host,
    port: flags.port,
    contract: contractOf(flags.contract),
    conducts: flags.conduct,
    profile: readProfile(flags.profile, flags.set),
    faults: flags.fault,
    timeScale: flags.timeScale,
    dataPath: flags.data,
    durability: flags.durability,
    trustProxy: flags.trustProxy === true,
    frameOrigins: flags.frameOrigin.map(originOf),
    ...given({ spendLogPath: flags.spendLog, outage: flags.outage, seed: flags.seed }),
    ...(operatorKey === null ? {} : { operatorKey }),
    ...(flags.upstream === undefined
      ? {}
      : {
          upstream: {
            url: flags.upstream,
            apiKey: process.env.ASSAY_UPSTREAM_KEY || null,
            models: flags.upstreamModel,
            headers: extraHeaders('--upstream-header', flags.upstreamHeader, process.env),
            tell: (words) => process.stderr.write(`upstream: ${words} (printed once)\n`),
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

function operatorKeyOf({ ASSAY_OPERATOR_KEY }: NodeJS.ProcessEnv): string {
  const key = ASSAY_OPERATOR_KEY?.trim() || makeSecret('op-', 32, null)
  if (isHeaderValue(key)) return key
  throw userError.usage('ASSAY_OPERATOR_KEY: expected printable ASCII on one line')
}

function print(
  { baseUrl, keys }: RunningService,
  flags: Options,
  operatorKey: string | null,
): void {
  if (flags.json)
    return void process.stdout.write(`${JSON.stringify({ baseUrl, keys, operatorKey })}\n`)
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
      // The largest account, because the smallest one may send only one request in three seconds.
      `  export ASSAY_API_KEY=${keys.at(-1)?.apiKey ?? ''}`,
      ...(operatorKey === null ? [] : [`  export ASSAY_OPERATOR_KEY=${operatorKey}`]),
      '',
      'Ctrl-C stops it.',
      nextLine(['bench', baseUrl], 'in another terminal, with the key of above'),
    ].join('\n'),
  )
}

function upstreamLines({ upstream }: Options): readonly string[] {
  if (upstream === undefined) return []
  const key = process.env.ASSAY_UPSTREAM_KEY
    ? ''
    : '  (without a key: ASSAY_UPSTREAM_KEY is not set)'
  return [`Answers from ${upstream}${key}`]
}

function printFaults(json: boolean): void {
  const ofMoney = moneyFaults.map(({ ids, ...fault }) => ({ ...fault, rule: ids.join(' ') }))
  const list = [...faults, ...ofMoney].map(({ name, rule, does, probability }) => ({
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
    process.stdout.write(
      '\nconduct of a service that bills in money (--conduct), which is legal:\n',
    )
    for (const [name, does] of Object.entries(conducts)) {
      process.stdout.write(`${name.padEnd(36)}${does}\n`)
    }
  }
}

function printProfile(json: boolean): void {
  const list = profileQuestions()
  if (json) process.stdout.write(`${JSON.stringify(list)}\n`)
  else {
    for (const { name, description, answers, standard } of list) {
      process.stdout.write(`${name} = ${standard}\n    ${description}\n    answers: ${answers}\n`)
    }
  }
}

/** A ledger that cannot be written is a fault of the machine; any other error is a bug in Assay. */
function endWith(error: Error): never {
  process.stderr.write(
    error instanceof UserError
      ? `${error.message}\n`
      : `This is a bug in Assay; please report it:\n${error.stack}\n`,
  )
  process.exit(exit.internal)
}

/** Resolves on the first stop signal; a second one ends the process at once. */
function stopped(): Promise<void> {
  return new Promise((resolve) => {
    const ignoreSignals = onStopSignal(() => {
      ignoreSignals()
      resolve()
    })
  })
}
