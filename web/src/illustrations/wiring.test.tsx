import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { withPullUp, withResistor } from '../content/guides/light-switch.ts'
import { motorWiring } from '../content/guides/motor.ts'
import { servoWiring } from '../content/guides/servo.ts'
import { WiringDrawing } from './WiringDrawing.tsx'

it('keeps wiring.svg as the guides’ steps say: run this test with -u after a change', async () => {
  const drawings = renderToStaticMarkup(
    <svg xmlns="http://www.w3.org/2000/svg">
      {[withResistor, withPullUp, motorWiring, servoWiring].map((wiring) => (
        <WiringDrawing key={wiring.id} wiring={wiring} />
      ))}
    </svg>,
  )
  await expect(
    `${drawings.replaceAll(/><\/(rect|path|circle)>/g, ' />').replaceAll('><', '>\n<')}\n`,
  ).toMatchFileSnapshot('./wiring.svg')
})
