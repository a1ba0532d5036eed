// From one end to the other and back, one degree at a time.
#include <Servo.h>

const int servoPin = 9;
const int stepDelay = 15;  // milliseconds for each degree
Servo servo;

void setup() {
  servo.attach(servoPin);
}

void loop() {
  for (int angle = 0; angle <= 180; angle++) {
    servo.write(angle);
    delay(stepDelay);
  }
  for (int angle = 180; angle >= 0; angle--) {
    servo.write(angle);
    delay(stepDelay);
  }
}
