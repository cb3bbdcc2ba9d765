import { createContext, Script } from 'node:vm'
import { type MessagePort, workerData } from 'node:worker_threads'
import type { AnswerToCheck } from '../../scenario/define.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { type AnswerContent, contentOf } from './answer.ts'
import type { Checked, CheckerData, ToCheck } from './checks.ts'
import { type AnswerVerdict, judgeAnswer, type ReadyExpectation, unchecked } from './judge.ts'
import { readyExpectations } from './ready.ts'

/**
 * The thread that judges answers, so that no sending thread waits for it. A regular expression, a schema or a function of
 * the user may take for ever, so the watchdog of `node:vm` interrupts each answer that takes too long. A watchdog for each
 * answer would cost more than most checks, so one guards all answers that begin within `mostMs`, and each has at least that time.
 */
const mostMs = 100
const mostShown = 2000
const mostWhy = 300

const data = workerData as CheckerData
for (const secret of data.secrets) secrets.add(secret)
const steps = await readyExpectations(data.scenario)

let waiting: readonly ToCheck[] = []
let done: Checked[] = []
const context = createContext({
  judge: () => {
    const untilMs = performance.now() + mostMs
    while (done.length < waiting.length && performance.now() < untilMs)
      done.push(judged(waiting[done.length]!))
  },
})
const script = new Script('judge()')

for (const port of data.senders as readonly MessagePort[]) {
  port.on('message', (answers: readonly ToCheck[]) => port.postMessage(judgeAll(answers)))
}

function judgeAll(answers: readonly ToCheck[]): readonly Checked[] {
  waiting = answers
  done = []
  while (done.length < answers.length) {
    try {
      script.runInContext(context, { timeout: 2 * mostMs })
    } catch (error) {
      if (done.length === answers.length) break
      const { id } = answers[done.length]!
      done.push({ id, verdict: shownVerdict(unchecked(whyNot(error))), shown: '' })
    }
  }
  return done
}

/** Why a check gave no verdict, such as a schema that calls itself deeper than the stack is. */
function whyNot(error: unknown): string {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown }
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    ? `the check took more than ${mostMs} ms`
    : `the check failed: ${String(message ?? error)}`
}

function judged({ id, step, body, isWhole, completionTokens, isText }: ToCheck): Checked {
  if (!isWhole) return { id, verdict: unchecked('the answer was too long to be kept'), shown: '' }
  const said =
    typeof body === 'string'
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  const found = contentOf(said)
  const content = isText && found.text === null ? { ...found, text: said } : found
  const answer: AnswerToCheck = {
    text: content.text ?? '',
    tools: content.tools.map(({ name, arguments: said }) => ({ name, arguments: said })),
    completionTokens,
  }
  const verdict = judgeAnswer(answer, steps[step] as readonly ReadyExpectation[])
  return verdict.answer === 'correct'
    ? { id, verdict, shown: '' }
    : { id, verdict: shownVerdict(verdict), shown: shownContent(content) }
}

/** Text in pieces may hold a key that no piece holds. */
const shownContent = ({ text, tools }: AnswerContent) =>
  secrets
    .without(
      [text ?? '', ...tools.map((call) => `${call.name}(${call.arguments})`)].join('\n').trim(),
    )
    .slice(0, mostShown)

const shownVerdict = (verdict: AnswerVerdict): AnswerVerdict =>
  'why' in verdict ? { ...verdict, why: secrets.without(verdict.why).slice(0, mostWhy) } : verdict
