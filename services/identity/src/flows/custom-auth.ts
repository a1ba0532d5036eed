import { invalid } from '../errors.ts'
import type { Flow } from '../operations/initiate-auth.ts'
import type { AuthAnswer } from '../sign-in.ts'

export async function customAuth(flow: Flow): Promise<AuthAnswer> {
  throw invalid(`${flow.client.id} cannot do this yet`)
}
