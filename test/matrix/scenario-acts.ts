import { loadScenario } from '../../src/scenario/parse.ts'
import { type Act, act } from './act.ts'

const scenarioFile = (name: string) =>
  loadScenario(new URL(`../../scenarios/${name}.yaml`, import.meta.url).pathname)

/** The scenarios for auditing, as they are shipped. */
export const scenarioActs = {
  billing: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-billing'), stage.sender('main')),
  ),
  errors: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-errors'), stage.sender('main')),
  ),
  streams: act([{ name: 'main', balance: 3_000 }], async (stage) =>
    stage.play(await scenarioFile('audit-streams'), stage.sender('main')),
  ),
} as const satisfies Readonly<Record<string, Act>>
