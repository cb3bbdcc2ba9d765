import { availableParallelism } from 'node:os'
import { calibrate } from '../../public/run.ts'
import { mostOfCeiling } from '../../run/judge/verdict.ts'
import type { Options } from '../commands/calibrate.ts'
import { LiveView } from '../runs/live-view.ts'
import { nextLine } from '../terminal/next.ts'
import { positiveOf, wholeNumberOf } from '../terminal/numbers.ts'
import { table } from '../terminal/table.ts'

const cores = availableParallelism() === 1 ? '1 core' : `${availableParallelism()} cores`
const whole = (perS: number) => Math.round(perS).toLocaleString('en')
const believable = (perS: number) => whole(perS * mostOfCeiling)
const threadsOf = (threads: number) => (threads === 1 ? '1 thread' : `${threads} threads`)

export async function calibrateAction(options: Options): Promise<void> {
  const live = new LiveView()
  const found = await calibrate(options.db, {
    threads: wholeNumberOf('--threads', options.threads, 1),
    seconds: positiveOf('--seconds', options.seconds),
    ...(options.with === undefined ? {} : { with: options.with }),
    onProgress: (progress) => live.show(progress),
  }).finally(() => live.clear())
  process.stdout.write(
    options.json
      ? `${JSON.stringify(found, null, 2)}\n`
      : [
          ...table(
            [
              ['', 'this machine', 'believe a run up to'],
              ['plain', `${whole(found.plainPerS)} requests/s`, `${believable(found.plainPerS)}/s`],
              [
                'streams',
                `${whole(found.eventsPerS)} events/s`,
                `${believable(found.eventsPerS)}/s`,
              ],
              ...(found.autocannonPerS === null
                ? []
                : [
                    [
                      'plain, autocannon',
                      `${whole(found.autocannonPerS)} requests/s`,
                      'a cross-check',
                    ],
                  ]),
            ],
            'words',
          ),
          `${threadsOf(found.threads)} on ${cores}, everything recorded. The null server uses them too,`,
          'so a service on another machine leaves room for more.',
          `Stored in ${options.db}; a run of ${threadsOf(found.threads)} above ${mostOfCeiling * 100} % of it is degraded.`,
          nextLine(['init'], 'writes a first scenario'),
        ].join('\n'),
  )
}
