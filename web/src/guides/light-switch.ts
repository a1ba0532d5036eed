import type { Content } from '../reading/blocks.ts'
import type { Wiring } from '../reading/wiring.ts'
import { guides } from './guide-cards.ts'
import pullUpLines from './light-switch-pull-up.ino?highlight'
import lines from './light-switch.ino?highlight'

/** The LED's half, the same in both circuits. */
const led: Wiring['steps'] = [
  {
    text: [
      'Put the ',
      { strong: 'LED' },
      ' in: the long leg into ',
      { code: 'd5' },
      ', the short leg into ',
      { code: 'd4' },
      '.',
    ],
    parts: [{ kind: 'led', anode: 'd5', cathode: 'd4' }],
  },
  {
    text: [
      'Put the ',
      { strong: '220 Ω resistor' },
      ' (red, red, brown) between ',
      { code: 'c5' },
      ' and ',
      { code: 'c9' },
      '. Either direction works.',
    ],
    parts: [{ kind: 'resistor', value: '220 Ω', from: 'c5', to: 'c9' }],
  },
  {
    text: ['Orange wire: from ', { strong: 'pin 9' }, ' of the board to ', { code: 'a9' }, '.'],
    wire: { from: 'board.9', to: 'hole.a9', color: 'orange' },
  },
  {
    text: ['Black wire: from ', { code: 'a4' }, ' to the blue rail beside it.'],
    wire: { from: 'hole.a4', to: 'hole.-4', color: 'black' },
  },
  {
    text: ['Black wire: from ', { strong: 'GND' }, ' of the board to the blue rail.'],
    wire: { from: 'board.GND', to: 'hole.-3', color: 'black' },
  },
]

const button: Wiring['steps'][number] = {
  text: [
    'Press the ',
    { strong: 'pushbutton' },
    ' in over the gap: two legs into ',
    { code: 'e13' },
    ' and ',
    { code: 'f13' },
    ', two into ',
    { code: 'e15' },
    ' and ',
    { code: 'f15' },
    '.',
  ],
  parts: [{ kind: 'button', rows: [13, 15] }],
}

const signal: Wiring['steps'][number] = {
  text: ['Blue wire: from ', { strong: 'pin 2' }, ' of the board to ', { code: 'a15' }, '.'],
  wire: { from: 'board.2', to: 'hole.a15', color: 'blue' },
}

export const withResistor: Wiring = {
  id: 'light-switch',
  title: 'A microcontroller board beside a breadboard with a pushbutton, an LED and two resistors',
  steps: [
    {
      text: 'Unplug the board. Lay the breadboard beside it with the numbers going down.',
      parts: [{ kind: 'breadboard' }],
    },
    ...led,
    button,
    {
      text: ['Red wire: from ', { strong: '5V' }, ' of the board to the red rail.'],
      wire: { from: 'board.5V', to: 'hole.+20', color: 'red' },
    },
    {
      text: ['Red wire: from the red rail to ', { code: 'a13' }, '.'],
      wire: { from: 'hole.+13', to: 'hole.a13', color: 'red' },
    },
    signal,
    {
      text: [
        'Put the ',
        { strong: '10 kΩ resistor' },
        ' (brown, black, orange) between ',
        { code: 'c15' },
        ' and ',
        { code: 'c19' },
        '.',
      ],
      parts: [{ kind: 'resistor', value: '10 kΩ', from: 'c15', to: 'c19' }],
    },
    {
      text: ['Black wire: from ', { code: 'a19' }, ' to the blue rail.'],
      wire: { from: 'hole.a19', to: 'hole.-19', color: 'black' },
    },
  ],
}

export const withPullUp: Wiring = {
  id: 'light-switch-pull-up',
  title: 'The same circuit with the pushbutton between pin 2 and GND, and no second resistor',
  steps: [
    {
      text: ['Take away the 10 kΩ resistor, both red wires, and the black wire at ', { code: 'a19' }, '.'],
      parts: [{ kind: 'breadboard' }],
    },
    {
      text: ['Leave the LED, its resistor, ', { strong: 'pin 9' }, ' and ', { strong: 'GND' }, ' as they are.'],
      parts: led.flatMap(({ parts }) => parts ?? []),
      kept: led.flatMap(({ wire }) => wire ?? []),
    },
    { ...button, text: 'The button stays where it is.' },
    {
      text: ['Black wire: from ', { code: 'a13' }, ' to the blue rail.'],
      wire: { from: 'hole.a13', to: 'hole.-13', color: 'black' },
    },
    { ...signal, text: ['The blue wire stays between ', { strong: 'pin 2' }, ' and ', { code: 'a15' }, '.'] },
  ],
}

export const lightSwitch: Content = {
  kicker: 'Guide',
  title: guides.lightSwitch.title,
  lead: 'A pushbutton tells the board something, the board tells an LED what to do. Every robot works like this: sense, decide, act. It takes about half an hour.',
  picture: guides.lightSwitch.picture,
  accent: 'green',
  parent: { to: '/news-guides', text: 'News & Guides' },
  contents: true,
  sections: [
    {
      id: 'parts',
      title: 'What you need',
      blocks: [
        {
          kind: 'list',
          items: [
            '1 microcontroller board: an Arduino Uno, or one with the same pins',
            '1 breadboard',
            '1 pushbutton with four legs',
            '1 LED, any color',
            '1 resistor of 220 Ω, for the LED',
            '1 resistor of 10 kΩ, for the button',
            '7 jumper wires: 3 black, 2 red, 1 orange, 1 blue',
            'A USB cable, and a computer with the Arduino IDE',
          ],
        },
        {
          kind: 'note',
          title: 'For the adult at the table',
          text: 'Unplug the board while you wire, and check everything once more before you plug it in. If a part gets warm or smells, unplug first and think afterwards.',
        },
      ],
    },
    {
      id: 'wiring',
      title: 'Wire it',
      blocks: [
        'Five holes of a row on one side of the gap are one piece of metal: what is plugged into the same five holes is connected. The rails along the edge are connected from top to bottom.',
        { kind: 'wiring', wiring: withResistor },
        [
          'The 10 kΩ resistor pulls pin 2 down to ',
          { code: 'LOW' },
          ' while nobody presses. Without it the pin floats, and reads whatever it likes.',
        ],
      ],
    },
    {
      id: 'code',
      title: 'Program it',
      blocks: [
        'Copy the sketch into the Arduino IDE, choose your board and its port in the Tools menu, and press Upload.',
        { kind: 'sketch', sketch: { name: 'light-switch.ino', lines } },
        [
          'Press the button: the LED lights up. Release it: the LED goes dark. ',
          { code: 'digitalRead' },
          ' checks the button many thousands of times a second, so it feels like no time at all.',
        ],
      ],
    },
    {
      id: 'pull-up',
      title: 'The same with a pull-up',
      blocks: [
        [
          'The board has resistors of its own. With ',
          { code: 'INPUT_PULLUP' },
          ' one of them pulls pin 2 up to ',
          { code: 'HIGH' },
          ', and the button connects it to GND. That’s one resistor and two wires fewer, and everything is reversed: ',
          { strong: 'pressed is LOW' },
          '.',
        ],
        { kind: 'wiring', wiring: withPullUp },
        { kind: 'sketch', sketch: { name: 'light-switch-pull-up.ino', lines: pullUpLines } },
      ],
    },
    {
      id: 'troubleshooting',
      title: 'When it does not work',
      blocks: [
        {
          kind: 'troubles',
          items: [
            {
              symptom: 'The LED never lights up',
              help: [
                'Turn the LED around: its long leg belongs in ',
                { code: 'd5' },
                '. Then check that the orange wire is in pin 9.',
              ],
            },
            {
              symptom: 'The LED is always on',
              help: 'The button may be turned by a quarter. Take it out, turn it, and press it in over the gap again.',
            },
            {
              symptom: 'It flickers on its own',
              help: [
                'Pin 2 is floating. Check the 10 kΩ resistor and the black wire at ',
                { code: 'a19' },
                ', or use the pull-up.',
              ],
            },
            {
              symptom: 'It’s on until you press',
              help: [
                'Wiring and sketch do not match: with the pull-up, pressed is ',
                { code: 'LOW' },
                '. Upload the sketch that goes with your wiring.',
              ],
            },
            {
              symptom: 'The sketch does not upload',
              help: 'Choose the board and the port in the Tools menu once more. Some USB cables only charge: try another.',
            },
          ],
        },
      ],
    },
    {
      id: 'next',
      title: 'What to try next',
      blocks: [
        {
          kind: 'list',
          items: [
            'Make it a real switch: press once for on, once more for off. You will need a variable that remembers.',
            [
              'Dim it: pin 9 can do more than on and off. Try ',
              { code: 'analogWrite(ledPin, 40)' },
              ' in place of ',
              { code: 'HIGH' },
              '.',
            ],
            'Add a second LED on pin 10 and let the two take turns.',
            ['Let the button start something that moves: ', { to: '/guides/motor-guide', text: 'drive a motor' }, '.'],
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/guides/motor-guide', text: 'Next guide: the motor' },
    { to: '/robokidslanding', text: 'View Classes' },
  ],
}
