import { existsSync } from 'node:fs'
import { stringify } from 'yaml'
import { printable } from '../../audit/format/printable.ts'
import type { FullContract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import { loadProfile } from '../../contract/load-profile.ts'
import {
  type DeploymentProfile,
  type GapAnswer,
  type GapId,
  gapIds,
  gaps,
} from '../../contract/profile.ts'
import { askable } from '../../probe/askable.ts'
import { firstReads } from '../../probe/balances.ts'
import { askedAgain, gapsToAskAgain, profileChanges, wordsOf } from '../../probe/diff.ts'
import { httpOperator } from '../../probe/http-operator.ts'
import { joined } from '../../probe/join.ts'
import { type Price, priceOf } from '../../probe/price.ts'
import type { ProbeResult, TooDear } from '../../probe/probe.ts'
import { secondKeyBeside } from '../../probe/question.ts'
import { probe } from '../../public/probe.ts'
import { openStore } from '../../public/store.ts'
import { reach } from '../../run/start/preflight.ts'
import { writeOutput } from '../../store/files/output.ts'
import { withoutCredentials } from '../../store/runs/runs.ts'
import { safeJson } from '../../user/hostile.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/probe.ts'
import { extraHeaders } from '../runs/extra-headers.ts'
import { apiKey, baseUrlOf } from '../runs/target.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, sameCommandWithout, storeWords } from '../terminal/next.ts'
import { positiveOf } from '../terminal/numbers.ts'
import { shown } from '../terminal/progress.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { table } from '../terminal/table.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { findBorderInputs } from './border-inputs.ts'
import { againText, changesText } from './probe-changes.ts'
import { mustBeWritable, mustNotBeKeys } from './probe-target.ts'

export async function probeAction(options: Options): Promise<void> {
  if (options.borderInputs !== undefined) return findBorderInputs(options, options.borderInputs)
  const contract = askable(loadContract(options.contract))
  const maxCredits = positiveOf('--max-credits', options.maxCredits)
  const timeScale = positiveOf('--time-scale', options.timeScale)
  const only = onlyOf(options.only)
  const headers = extraHeaders('--header', options.header, process.env)
  mustNotBeKeys(headers, contract)
  const older = options.diff === undefined ? null : loadProfile(options.diff, '--diff')
  if (options.dryRun) {
    process.stdout.write(dryRunText(options, only, contract, maxCredits))
    if (options.json !== true)
      process.stdout.write(nextLine(sameCommandWithout('--dry-run'), 'asks the service'))
    return
  }
  const baseUrl = baseUrlOf(options.baseUrl, contract)
  const key = apiKey()
  mustBeWritable('--out', options.out)
  const existing = only.length > 0 ? joinable(options.out, baseUrl, contract) : null
  await reach(baseUrl, {}, contract.timeouts.connectMs)
  const operator =
    options.operator === undefined
      ? null
      : await httpOperator(options.operator, key, process.env.ASSAY_OPERATOR_KEY?.trim() ?? '')
  const store = await openStore(options.db)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  try {
    const ask = async (gaps: readonly GapId[], most: number) => {
      const result = await shown(({ onProgress, say }) =>
        probe(store, {
          contract,
          baseUrl,
          apiKey: key,
          secondKey: secondApiKey(),
          headers,
          operator,
          maxCredits: most,
          timeScale,
          only: gaps,
          signal: stop.signal,
          onProgress,
          onPrice: (price) => say(paragraphs(priceText(price), process.stderr)),
          onAnswer: (gap, answer, spent) =>
            say(
              paragraphs(
                `${gap}  ${statusText(answer)}  (${creditsText(spent)} so far)`,
                process.stderr,
              ),
            ),
        }),
      )
      // At once: what follows may fail.
      if (result.unrestored !== null) {
        process.stderr.write(paragraphs(`${result.unrestored}\n`, process.stderr))
        process.exitCode = exit.failed
      }
      return result
    }
    const first = await ask(only, maxCredits)
    const { asked, tooDear } = first
    const { path, ...written } = toWrite(options.out, existing, first)
    let { profile } = written
    writeOutput(path, yamlOf(profile))
    let { interrupted } = first
    let changes = older === null ? null : profileChanges(older, first.profile, asked)
    const flips = gapsToAskAgain(changes ?? [])
    const left = maxCredits - first.profile.credits_spent
    // A further probe would take a balance that was not restored for that of the account.
    if (flips.length > 0 && left > 0 && !interrupted && first.unrestored === null) {
      process.stderr.write(paragraphs(`${againText(flips, left)}\n`, process.stderr))
      // The profile keeps the first answers: a second one only shows whether the answer flips. Its credits are spent all the same.
      const second = await ask(flips, left)
      changes = askedAgain(changes!, second.profile)
      profile = { ...profile, credits_spent: profile.credits_spent + second.profile.credits_spent }
      writeOutput(path, yamlOf(profile))
      interrupted = second.interrupted
    }
    process.stdout.write(
      options.json
        ? `${safeJson(JSON.stringify(changes === null ? profile : { profile, changes }, null, 2))}\n`
        : paragraphs(
            `${profileText(profile, path)}${tooDearText(tooDear)}${changes === null ? '' : changesText(changes, options.diff!)}`,
            process.stdout,
          ) +
            nextLine(
              [
                ...['audit', '--profile', path],
                ...storeWords(options.db),
                ...contractWords(options.contract),
              ],
              'judges by what the probe found',
            ),
    )
    // A balance that was not restored says more.
    if (interrupted) process.exitCode ??= exit.interrupted
  } finally {
    ignoreSignals()
    store.close()
  }
}

/**
 * The profile that a probe writes, and where. An incomplete one never replaces what is in `--out`.
 *
 *     probe         --only   --out         written
 *     whole         any      is missing    to --out: the answers
 *     whole         no       is there      to --out, in place of it: the answers
 *     whole         yes      is there      to --out: the answers, and those of it to the other questions
 *     interrupted   any      is missing    to --out: the answers so far
 *     interrupted   any      is there      to --out.interrupted: the answers so far
 *
 * @param existing what is in `out`, if only some questions are asked
 */
function toWrite(
  out: string,
  existing: DeploymentProfile | null,
  { profile, asked, interrupted }: ProbeResult,
): { readonly path: string; readonly profile: DeploymentProfile } {
  if (interrupted && existsSync(out)) return { path: `${out}.interrupted`, profile }
  return { path: out, profile: existing === null ? profile : joined(existing, profile, asked) }
}

const yamlOf = (profile: DeploymentProfile) => stringify(profile, { lineWidth: 100 })

/** The rest of a line stands under the answer, which is behind the name of its question. */
const paragraphs = (text: string, stream: NodeJS.WriteStream) => fitted(text, stream, '      ')

const secondApiKey = (): string | null => process.env.ASSAY_API_KEY_2?.trim() || null

function onlyOf(texts: readonly string[]): readonly GapId[] {
  const asked = texts
    .flatMap((text) => text.split(','))
    .map((gap) => gap.trim().toUpperCase())
    .filter((gap) => gap !== '')
  const strangers = asked.filter((gap) => !gapIds.includes(gap as GapId))
  // Without a question, all would be asked.
  if (strangers.length > 0 || (texts.length > 0 && asked.length === 0)) {
    throw userError.usage(
      `--only: there is no question ${strangers.join(', ') || 'in it'}; questions are ${gapIds[0]} to ${gapIds.at(-1)}.`,
    )
  }
  return asked as GapId[]
}

/**
 * The existing profile into which the answers of `--only` are merged; null if there is none.
 *
 * @throws UserError if it is not a profile, or belongs to another deployment or contract
 */
function joinable(path: string, baseUrl: string, contract: FullContract): DeploymentProfile | null {
  if (!existsSync(path)) return null
  const profile = loadProfile(path, '--out')
  const asked = [withoutCredentials(baseUrl), contract.name].join(' by the contract ')
  const whose = [profile.base_url, profile.contract].join(' by the contract ')
  if (asked === whose) return profile
  throw userError.usage(
    `--out: with --only, answers are merged into the existing profile, but ${path} belongs to ${printable(whose)}, not to ${asked}; name another file.`,
  )
}

function dryRunText(
  { json, operator, diff }: Options,
  only: readonly GapId[],
  contract: FullContract,
  maxCredits: number,
): string {
  const bands = contract.bands.map((band) => ({
    band: band.name,
    ...priceOf(
      {
        contract,
        minuteLimit: band.requests.minute,
        readCredits: 1,
        hasOperator: operator !== undefined,
        secondKey: secondKeyBeside(process.env.ASSAY_API_KEY?.trim(), secondApiKey()),
      },
      only,
      null,
      maxCredits,
      firstReads,
    ),
  }))
  if (json) return `${JSON.stringify(bands, null, 2)}\n`
  const rows = bands.map(({ band, credits }) => [band, `${credits} credits at most`])
  const again =
    diff === undefined
      ? ''
      : `Questions whose answers differ from ${diff} are asked once more, for at most what --max-credits (${maxCredits}) leaves.\n`
  return `Nothing was sent. The cost of a probe in each band of the balance, including up to ${creditsText(firstReads)} to read the balance first:\n${table(rows).join('\n')}\n${again}`
}

function priceText(price: Price): string {
  const { credits, firstReadsCredits, maxCredits, balance, questions } = price
  const blocked = questions.filter(({ obstacle }) => obstacle !== null)
  return [
    `The probe costs up to ${creditsText(credits)}${firstReadsCredits === 0 ? '' : `, ${firstReadsCredits} of them for the reads of the balance so far`}; it spends at most ${maxCredits}${balance === null ? '' : `, from a balance of ${balance}`}.`,
    ...(credits > maxCredits
      ? ['Questions beyond that are skipped. Raise --max-credits to ask them.']
      : []),
    ...(balance !== null && credits - firstReadsCredits > balance
      ? ['Questions that the balance may not cover are skipped. Select questions with --only.']
      : []),
    ...blocked.map(({ gaps, obstacle }) => `Skipped ${gaps.join(', ')}: ${obstacle}.`),
  ].join('\n')
}

const creditsText = (credits: number): string =>
  `${credits} ${credits === 1 ? 'credit' : 'credits'}`

/** An answer may contain text of the service, so it is made printable. */
const statusText = (answer: GapAnswer): string => printable(plainStatusText(answer))

function plainStatusText(answer: GapAnswer): string {
  switch (answer.status) {
    case 'answered':
      return facetsText(answer)
    case 'ambiguous':
      return [
        ...(Object.keys(answer.is).length === 0 ? [] : [facetsText(answer)]),
        `undecided: ${Object.entries(answer.between)
          .map(([facet, values]) => {
            const either = values.join(' or ')
            return either === facet ? facet : `${facet} is ${either}`
          })
          .join('; ')}`,
      ].join('; ')
    case 'not-askable':
      return `skipped: ${answer.why}`
    case 'not-asked':
      return `not asked: ${answer.why}`
  }
}

function facetsText({ is }: Extract<GapAnswer, { is: unknown }>): string {
  return Object.entries(is)
    .map(([facet, value]) => `${facet}: ${wordsOf(value)}`)
    .join('; ')
}

function profileText({ answers, credits_spent }: DeploymentProfile, out: string): string {
  const count = (status: GapAnswer['status']) =>
    gapIds.filter((gap) => answers[gap].status === status).length
  const notAsked = count('not-asked')
  return [
    ...gapIds
      .filter((gap) => answers[gap].status !== 'not-asked')
      .map((gap) => `${gap}  ${gaps[gap]}\n      ${statusText(answers[gap])}`),
    '',
    `${count('answered')} answered, ${count('ambiguous')} ambiguous, ${count('not-askable')} skipped${notAsked === 0 ? '' : `, ${notAsked} not asked`}; at most ${creditsText(credits_spent)} spent.`,
    `The profile is in ${out}.`,
    '',
  ].join('\n')
}

function tooDearText(tooDear: readonly TooDear[]): string {
  if (tooDear.length === 0) return ''
  const names = tooDear.flatMap(({ gaps }) => gaps).join(',')
  const each = tooDear.map(({ gaps, credits }) => `${gaps.join(', ')} (${creditsText(credits)})`)
  return `Not asked, because the credits do not suffice: ${each.join('; ')} at most. Ask them with --only ${names} on an account that has as many.\n`
}
