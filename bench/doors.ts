import { levelClassTypes, type LevelClassType } from '@robokids/contracts/enrollment'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { prove } from '@robokids/local/prove'
import type { System } from '@robokids/test/system'
import { Pool } from 'undici'
import { familyRequest, visitor } from './hold-statement.ts'
import { closedLoop, type Figures } from './measure.ts'
import { connections } from './measured-system.ts'

export interface ClassSession {
  classType: LevelClassType
  date: string
}

/** The class sessions on sale, the soonest first. */
export async function sessionsOnSale(system: System): Promise<ClassSession[]> {
  const levels = await Promise.all(
    levelClassTypes.map(async (classType) =>
      (await system.openDates(classType)).map(({ date }) => ({ classType, date })),
    ),
  )
  return levels.flat().sort((a, b) => a.date.localeCompare(b.date) || a.classType.localeCompare(b.classType))
}

interface Answer {
  registrationId: string
  checkoutUrl?: string
}

/** An address that registers families, with a proof of work each where it is the BFF's. */
export function openDoor(
  url: string,
  path: string,
  headers: Record<string, string>,
  see: (answer: Answer) => void = () => {},
) {
  /** Browsers solve while the form is filled in: no part of what is measured. */
  async function readyProofs(count: number): Promise<Record<string, string>[]> {
    const ready: Record<string, string>[] = []
    while (isBff && ready.length < count) {
      const answer = await fetch(`${url}/api/proof?form=registration`)
      const { challenge } = proofChallengeSchema.parse(await answer.json())
      ready.push(challenge ? await prove(challenge) : {})
    }
    return ready
  }

  const isBff = path.startsWith('/api/')
  const pool = new Pool(url, { connections })
  let answered = 0
  return {
    /** How many registrations it has answered with success so far; any other answer ends the run. */
    answered: () => answered,
    /** Each worker keeps to one of `sessions`. */
    async run(count: number, sessions: ClassSession[], limitMs?: number): Promise<Figures> {
      const proofs = await readyProofs(count)
      return closedLoop(
        connections,
        count,
        async (worker) => {
          const session = sessions[worker % sessions.length]
          if (!session) throw new Error('No class is on sale.')
          const body = { ...familyRequest(session), ...(isBff ? {} : visitor()) }
          const answer = await pool.request({
            method: 'POST',
            path,
            headers: { 'content-type': 'application/json', ...headers, ...proofs.pop() },
            body: JSON.stringify(body),
          })
          const text = await answer.body.text()
          if (answer.statusCode !== 200) throw new Error(`${path} was answered ${answer.statusCode}: ${text}`)
          see(JSON.parse(text) as Answer)
          answered += 1
        },
        limitMs,
      )
    },
    stop: () => pool.close(),
  }
}
