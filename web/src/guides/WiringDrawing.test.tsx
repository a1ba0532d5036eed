import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { withPullUp, withResistor } from './light-switch.ts'
import { motorWiring } from './motor.ts'
import { servoWiring } from './servo.ts'
import { WiringDrawing } from './WiringDrawing.tsx'

it.each([withResistor, withPullUp, motorWiring, servoWiring])(
  'keeps the circuit of $id as its guide’s steps say: run this test with -u after a change',
  async (wiring) => {
    const drawing = renderToStaticMarkup(<WiringDrawing wiring={wiring} />)
    await expect(
      `${drawing.replaceAll(/><\/(rect|path|circle)>/g, ' />').replaceAll('><', '>\n<')}\n`,
    ).toMatchFileSnapshot(`../../drawings/wiring-${wiring.id}.svg`)
  },
)
