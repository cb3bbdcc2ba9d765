import {
  type DeploymentProfile,
  type Facets,
  type GapAnswer,
  gapIds,
  gaps,
} from '../contract/profile.ts'
import type { Session } from '../store/session/session.ts'
import { fillTable } from './temp-table.ts'

/**
 * Creates the table `shown_profile` (gap, question, status, answer, evidence) for the queries of the audit page: the
 * deployment's answers where the specification is silent. Without a profile it is empty.
 */
export async function fillProfile(
  session: Session,
  profile: DeploymentProfile | null,
): Promise<void> {
  await fillTable(
    session,
    'shown_profile',
    {
      gap: 'VARCHAR',
      question: 'VARCHAR',
      status: 'VARCHAR',
      answer: 'VARCHAR',
      evidence: 'VARCHAR',
    },
    profile === null
      ? []
      : gapIds.map((gap) => ({
          gap,
          question: gaps[gap],
          status: profile.answers[gap].status,
          ...told(profile.answers[gap]),
        })),
  )
}

function told(answer: GapAnswer): { readonly answer: string; readonly evidence: string } {
  switch (answer.status) {
    case 'answered':
      return { answer: wordsOf(answer.is), evidence: answer.evidence.join('; ') }
    case 'ambiguous': {
      const open = Object.entries(answer.between).map(
        ([facet, list]) => `${facet}: ${list.join(' or ')}`,
      )
      const known = wordsOf(answer.is)
      return {
        answer: [...(known === '' ? [] : [known]), ...open].join('; '),
        evidence: answer.evidence.join('; '),
      }
    }
    case 'not-askable':
    case 'not-asked':
      return { answer: answer.why, evidence: '' }
  }
}

const wordsOf = (facets: Facets) =>
  Object.entries(facets)
    .map(([facet, value]) => `${facet}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join('; ')
