import { launchEnd, launchTop } from '../../src/report/launch.ts'
import type { Session } from '../../src/store/session/session.ts'

/** All that a launch page says around its charts. */
export async function launchText(store: Session): Promise<string> {
  const { answer, cards } = await launchTop(store)
  const end = await launchEnd(store)
  return [answer, cards, end].map((part) => (part === false ? '' : part.text)).join('\n')
}
