package proxy

import (
	"bufio"
	"encoding/binary"
	"io"
)

const headerBytes = 4

// Commands whose text or absence of an answer matters here.
const (
	comQuit         = 0x01
	comQuery        = 0x03
	comStmtPrepare  = 0x16
	comStmtExecute  = 0x17
	comStmtLongData = 0x18
	comStmtClose    = 0x19
)

// Capabilities taken out of the greeting, see the package comment.
const (
	clientCompress        = 1 << 5
	clientSSL             = 1 << 11
	clientZstdCompress    = 1 << 26
	clientQueryAttributes = 1 << 27
)

const (
	answerOK       = 0x00
	answerErr      = 0xff
	greetingV10    = 0x0a
	sqlStateMarker = '#'
)

// packet is one protocol packet with its header: length (3 bytes, little endian), sequence (1 byte), payload.
type packet []byte

func (p packet) payload() []byte { return p[headerBytes:] }

// isCommand: a client starts every command with sequence 0; what it sends in the handshake, and the continuation of
// a long command, has another.
func (p packet) isCommand() bool { return p[3] == 0 && len(p) > headerBytes }

// readPacket returns a packet that shares no memory with the reader.
func readPacket(in *bufio.Reader) (packet, error) {
	header, err := in.Peek(headerBytes)
	if err != nil {
		return nil, err
	}
	length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	p := make(packet, headerBytes+length)
	_, err = io.ReadFull(in, p)
	return p, err
}

func newPacket(sequence byte, payload []byte) packet {
	p := make(packet, headerBytes, headerBytes+len(payload))
	p[0], p[1], p[2], p[3] = byte(len(payload)), byte(len(payload)>>8), byte(len(payload)>>16), sequence
	return append(p, payload...)
}

// states gives the SQLSTATE the server sends with a code; all others are HY000.
var states = map[uint16]string{
	1040: "08004", 1053: "08S01", 1062: "23000", 1213: "40001", 1317: "70100", 1792: "25006", 3024: "HY000", 3101: "40000",
}

// errorPacket is the server's ERR packet as the answer to a command.
func errorPacket(code uint16, message string) packet {
	state, known := states[code]
	if !known {
		state = "HY000"
	}
	payload := binary.LittleEndian.AppendUint16([]byte{answerErr}, code)
	payload = append(payload, sqlStateMarker)
	payload = append(payload, state...)
	return newPacket(1, append(payload, message...))
}

// plainGreeting clears the capabilities the proxy cannot read through. Layout of the payload: version (1), server
// version (NUL-terminated), connection id (4), salt (8), filler (1), capabilities low (2), charset (1), status (2),
// capabilities high (2).
func plainGreeting(p packet) {
	payload := p.payload()
	if len(payload) == 0 || payload[0] != greetingV10 {
		return
	}
	end := 1
	for end < len(payload) && payload[end] != 0 {
		end++
	}
	low := end + 1 + 4 + 8 + 1
	high := low + 2 + 1 + 2
	if high+2 > len(payload) {
		return
	}
	clear := func(at int, bits uint16) {
		binary.LittleEndian.PutUint16(payload[at:], binary.LittleEndian.Uint16(payload[at:])&^bits)
	}
	clear(low, clientCompress|clientSSL)
	clear(high, (clientZstdCompress|clientQueryAttributes)>>16)
}

// preparedID is the statement id in the answer to COM_STMT_PREPARE.
func preparedID(answer packet) (uint32, bool) {
	payload := answer.payload()
	if len(payload) < 5 || payload[0] != answerOK {
		return 0, false
	}
	return binary.LittleEndian.Uint32(payload[1:]), true
}
